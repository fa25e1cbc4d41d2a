/* The theme of every grid, from the tokens of the styles; Dash looks for it by this name. */
const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});

functions.evoGridTheme = (_theme, agGrid) =>
  agGrid.themeQuartz.withParams({
    accentColor: "var(--ev-accent)",
    backgroundColor: "var(--ev-surface)",
    foregroundColor: "var(--ev-text)",
    textColor: "var(--ev-text)",
    headerBackgroundColor: "var(--ev-surface)",
    headerTextColor: "var(--ev-muted)",
    headerFontWeight: 600,
    borderColor: "var(--ev-border)",
    rowHoverColor: "var(--ev-sunken)",
    selectedRowBackgroundColor: "var(--ev-accent-soft)",
    oddRowBackgroundColor: "var(--ev-surface)",
    fontFamily: "var(--ev-font)",
    fontSize: 14,
    cellHorizontalPadding: 10,
    wrapperBorderRadius: "var(--ev-radius)",
    browserColorScheme: "inherit",
  });

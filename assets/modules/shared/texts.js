export const { text, size, relative, exact, sentences, quoted } = window.evorag;

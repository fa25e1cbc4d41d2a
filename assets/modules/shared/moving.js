export const go = (path) => window.evorag.go(path);

// Keeps the bds pod running without the page of usage, for `kubectl exec`.
process.on('SIGTERM', () => process.exit());
setInterval(() => {}, 2 ** 31 - 1);

// Keeps the bds pod running, for `kubectl exec`.
process.on('SIGTERM', () => process.exit());
setInterval(() => {}, 2 ** 31 - 1);

// Keeps the pod of the operators' command line there, for `kubectl exec`.
process.on('SIGTERM', () => process.exit());
setInterval(() => {}, 2 ** 31 - 1);

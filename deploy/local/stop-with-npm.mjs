// To be imported before a program that an npm script becomes by "exec": npm is then its parent, and when npm is killed
// without notice the program is told to stop.
const npm = process.ppid;
setInterval(() => {
  if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM');
}, 500).unref();

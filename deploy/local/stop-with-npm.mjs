// npm scripts that start a program with "exec" import this file into the program. npm is then the parent of the program. If npm
// is killed with SIGKILL, this file stops the program.
const npm = process.ppid;
setInterval(() => {
  if (process.ppid !== npm) process.kill(process.pid, 'SIGTERM');
}, 500).unref();

declare module 'fs-native-extensions' {
  /**
   * Tries to lock the file exclusively, and returns whether that succeeded. The lock ends when `fd` is closed or the process
   * ends.
   */
  export function tryLock(fd: number): boolean;
}

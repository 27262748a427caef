declare module 'fs-native-extensions' {
  /** Whether an exclusive lock on the file was given; it ends when `fd` is closed, or this process ends. */
  export function tryLock(fd: number): boolean;
}

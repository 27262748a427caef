/** Problems of a file and their remedies, by the system's code. The path stands before the text. */
export const FILE_PROBLEM: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist: check its name',
  EACCES: 'may not be used by you: check its owner and its mode',
  EISDIR: 'is a folder: name a file in it',
  ENOTDIR: 'is not in a folder: check its name',
  ENOSPC: 'has no room: the disk is full',
};

declare module 'culori/require' {
  /** All of culori in one file, which loads much faster than the hundreds of files of its other entry. */
  const culori: Pick<typeof import('culori'), 'clampChroma' | 'converter'>;
  export default culori;
}

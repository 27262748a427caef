declare module 'seek-bzip' {
  interface Input {
    readByte(): number;
    /** How many bytes were read. */
    read(target: Uint8Array, offset: number, length: number): number;
    eof(): boolean;
  }
  interface Output {
    writeByte(byte: number): void;
  }
  const Bunzip: { decode(input: Input, output: Output, multistream: boolean): void };
  export default Bunzip;
}

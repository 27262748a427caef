/** Returns a positive whole number from the environment. */
export function numberFrom(variable: string, byDefault: number): number {
  const text = process.env[variable] ?? String(byDefault);
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${variable}: a positive whole number, not "${text}"`);
  return number;
}

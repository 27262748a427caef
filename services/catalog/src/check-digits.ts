/** Whether it is an ISIN (ISO 6166) whose check digit holds: country or agency, nine characters, a digit. */
export function isIsin(value: string): boolean {
  if (!/^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(value)) return false;
  const digits = [...value].map((character) => Number.parseInt(character, 36)).join('');
  return luhnSum([...digits].map(Number)) % 10 === 0;
}

/** Whether it is a CUSIP (ANSI X9.6) whose check digit holds: eight characters and a digit. */
export function isCusip(value: string): boolean {
  if (!/^[A-Z0-9*@#]{8}[0-9]$/.test(value)) return false;
  const sum = [...value.slice(0, 8)]
    .map((character, index) => cusipValue(character) * (index % 2 === 0 ? 1 : 2))
    .reduce((total, product) => total + Math.floor(product / 10) + (product % 10), 0);
  return (10 - (sum % 10)) % 10 === Number(value[8]);
}

function cusipValue(character: string): number {
  const mark = '*@#'.indexOf(character);
  return mark >= 0 ? 36 + mark : Number.parseInt(character, 36);
}

/** Every second digit from the right counts twice, as the sum of its product's digits. */
function luhnSum(digits: number[]): number {
  return digits
    .toReversed()
    .map((digit, index) => (index % 2 === 0 ? digit : digit * 2))
    .reduce((total, product) => total + Math.floor(product / 10) + (product % 10), 0);
}

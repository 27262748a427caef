/** Appends the check digit to the eleven characters of an ISIN (ISO 6166). */
export function withIsinDigit(body: string): string {
  const digits = Array.from(body, valueOfCharacter).join('');
  let sum = 0;
  for (let index = digits.length - 1, doubled = true; index >= 0; index--, doubled = !doubled) {
    sum += sumOfDigits(Number(digits[index]) * (doubled ? 2 : 1));
  }
  return body + ((10 - (sum % 10)) % 10);
}

/** Appends the check digit of a CUSIP (ANSI X9.6) or FIGI (X9.145) to the characters before it. */
export function withCusipDigit(body: string): string {
  let sum = 0;
  for (let index = 0; index < body.length; index++) {
    sum += sumOfDigits(valueOfCharacter(body[index] ?? '0') * (index % 2 === 0 ? 1 : 2));
  }
  return body + ((10 - (sum % 10)) % 10);
}

/** Appends the check digits to the eighteen characters of an LEI (ISO 17442). */
export function withLeiDigits(body: string): string {
  let rest = 0;
  for (const digit of `${Array.from(body, valueOfCharacter).join('')}00`)
    rest = (rest * 10 + Number(digit)) % 97;
  return body + String(98 - rest).padStart(2, '0');
}

function valueOfCharacter(character: string): number {
  return Number.parseInt(character, 36);
}

function sumOfDigits(value: number): number {
  return Math.floor(value / 10) + (value % 10);
}

/** Decimal numbers as strings: exact, of any size. */

/**
 * A normalized number: its digits without leading and trailing zeros, and the power of ten of the last digit.
 * Zero has no digits.
 */
export interface Decimal {
  negative: boolean
  digits: string
  exponent: number
}

/** Takes a JSON number. Linear in its length. */
export function toDecimal(number: string): Decimal {
  const negative = number.startsWith('-')
  const [mantissa = '', exponent = '0'] = number.slice(negative ? 1 : 0).split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let first = 0
  let end = all.length
  while (all[first] === '0') first++
  while (end > first && all[end - 1] === '0') end--
  const digits = all.slice(first, end)
  if (digits === '') return { negative: false, digits, exponent: 0 }
  return { negative, digits, exponent: Number(exponent) - fraction.length + all.length - end }
}

/** Negative if `a` is less than `b`, positive if it is greater, 0 if they are equal. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const sign = signOf(a)
  if (sign !== signOf(b)) return sign - signOf(b)
  const places = a.digits.length + a.exponent - b.digits.length - b.exponent
  if (places !== 0) return sign * Math.sign(places)
  if (a.digits === b.digits) return 0
  return a.digits < b.digits ? -sign : sign
}

function signOf({ negative, digits }: Decimal): number {
  if (digits === '') return 0
  return negative ? -1 : 1
}

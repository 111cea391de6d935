import { expect, test } from 'vitest'
import { toHeaderValue } from '../../../../src/service/http/context.ts'

test('toHeaderValue: keeps visible ASCII, and replaces anything else (threat 52)', () => {
  expect(toHeaderValue('/output/total must be of type number')).toBe('/output/total must be of type number')
  expect(toHeaderValue('/output/größe\r\nSet-Cookie: a=🚪')).toBe('/output/gr??e??Set-Cookie: a=??')
})

test('toHeaderValue: is at most 200 characters long (threat 104)', () => {
  const long = toHeaderValue('x'.repeat(10_000))

  expect([long.length, long.slice(-4)]).toEqual([200, 'x...'])
  expect(() => new Headers({ 'Portico-Output-Warning': toHeaderValue('\0\u2028'.repeat(300)) })).not.toThrow()
})

import { expect, test } from 'vitest'
import { DEVELOPMENT_LICENSES, isAllowed, licenseOf, SHIPPED_LICENSES } from '../../../dev/build/licenses.ts'

test.for([
  ['MIT', true],
  ['(MIT OR Apache-2.0)', true],
  ['GPL-3.0-only OR MIT', true],
  ['MIT AND BSD-3-Clause', true],
  ['MIT AND GPL-3.0-only', false],
  ['(MIT OR GPL-2.0-only) AND MPL-2.0', false],
  ['Apache-2.0 WITH LLVM-exception', false],
  ['AGPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE', false],
  ['UNLICENSED', false],
  ['', false],
  [null, false],
] as const)('licenses: %s may be in a bundle: %s (threat 102)', ([expression, expected]) => {
  expect(isAllowed(expression, SHIPPED_LICENSES)).toBe(expected)
})

test('licenses: what only builds and tests run may have more, but not all (threat 102)', () => {
  expect(isAllowed('MPL-2.0', DEVELOPMENT_LICENSES)).toBe(true)
  expect(isAllowed('AGPL-3.0-only', DEVELOPMENT_LICENSES)).toBe(false)
})

test('licenses: one that was read by hand is that of this version alone', () => {
  expect(licenseOf({ name: 'unionfs', version: '4.6.0' })).toBe('Unlicense')
  expect(licenseOf({ name: 'unionfs', version: '4.6.1' })).toBe(null)
  expect(licenseOf({ name: 'another', version: '1.0.0', license: { type: 'MIT' } })).toBe(null)
})

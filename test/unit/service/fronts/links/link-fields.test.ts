import { expect, test } from 'vitest'
import { linkRequest } from '../../../../../src/service/fronts/links/link-fields.ts'

const link = (title: string, label: string) => ({ title, signal: 'answer', choices: [{ label }] })
const isValid = (body: object) => linkRequest.schema.safeParse(body).success

// Control characters, line breaks, and the characters that change the direction of text.
const HIDDEN = [
  ...[0x00, 0x07, 0x09, 0x0a, 0x0d, 0x1b, 0x7f, 0x85, 0x9f, 0x061c, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
].map((code) => String.fromCharCode(code))

test('links: titles and labels with control or bidi characters are rejected', () => {
  const accepted = HIDDEN.filter(
    (hidden) => isValid(link(`Pay ${hidden}100 EUR?`, 'Yes')) || isValid(link('Pay?', `Yes${hidden}!`)),
  )

  expect(accepted.map((hidden) => hidden.charCodeAt(0).toString(16))).toEqual([])
})

test('links: titles and labels in any script are accepted', () => {
  expect(
    [
      'Zahlen: 100 \u20ac?',
      '\u05dc\u05e9\u05dc\u05dd?',
      '\u0627\u062f\u0641\u0639\u061f',
      '\u{1f468}\u200d\u{1f4bb} ok?',
    ].map((text) => isValid(link(text, text))),
  ).toEqual([true, true, true, true])
})

const YES = link('Pay?', 'Yes')
const detail = { label: 'Order', value: '17' }

test('links: there are at most 20 details, each with a label and a value that can be shown', () => {
  const withDetails = (details: unknown) => isValid({ ...YES, details })

  expect([withDetails([]), withDetails(Array(20).fill(detail))]).toEqual([true, true])
  const wrong = [
    Array(21).fill(detail),
    [{ label: 'Order' }],
    [{ ...detail, value: 17 }],
    [{ ...detail, value: ' ' }],
    [{ ...detail, more: 1 }],
    detail,
    ...HIDDEN.flatMap((hidden) => [[{ ...detail, value: `1${hidden}7` }], [{ ...detail, label: `a${hidden}b` }]]),
    [{ ...detail, value: 'x'.repeat(501) }],
  ]
  expect(wrong.filter(withDetails)).toEqual([])
})

test('links: the style of a choice is danger, or absent', () => {
  const withStyle = (style: unknown) => isValid({ ...YES, choices: [{ label: 'Yes', style }] })

  expect([withStyle('danger'), ...['primary', '', null, 'Danger" onclick="x'].map(withStyle)]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

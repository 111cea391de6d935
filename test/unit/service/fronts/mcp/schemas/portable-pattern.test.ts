import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import {
  isPortableKeyPattern,
  isPortablePattern,
} from '../../../../../../src/service/fronts/mcp/schemas/portable-pattern.ts'

test.for([
  '^[a-zà-ÿ]{2,5}$',
  String.raw`^[\d.]+\.\w*\x41$`,
  '^(?:a|b)?$',
  '[(?=]',
  String.raw`[\]\-^.\[]`,
  '(a{10}){100}',
])('isPortablePattern: %s is read alike by Python and RE2', (pattern) => {
  expect(isPortablePattern(pattern)).toBe(true)
  expect(() => RE2JS.compile(pattern)).not.toThrow()
})

test.for([
  String.raw`^\p{L}+$`,
  String.raw`\u0041`,
  '^(?=a)',
  '(?<!a)b',
  '(?<name>a)',
  '(?i:a)',
  String.raw`(a)\1`,
  '[]',
  '[^]',
  '[[:alpha:]]',
  String.raw`[\b]`,
  '^a.b$',
  '[^/]',
  '[😀]',
  '[a-\uffff]',
  String.raw`\s`,
  String.raw`\S`,
  String.raw`\D`,
  String.raw`\W`,
  String.raw`\b`,
  String.raw`\B`,
  String.raw`[a\s]`,
  'a{1001}',
  '(a{100}){100}',
])('isPortablePattern: %s is not', (pattern) => {
  expect(isPortablePattern(pattern)).toBe(false)
})

test.for<[pattern: string, isPortable: boolean]>([
  ['^x-[a-z]', true],
  ['^x$', false],
  [String.raw`^\d`, false],
  [String.raw`^\w`, false],
  ['^.', false],
])('isPortableKeyPattern: %s: %s', ([pattern, isPortable]) => {
  expect(isPortableKeyPattern(pattern)).toBe(isPortable)
})

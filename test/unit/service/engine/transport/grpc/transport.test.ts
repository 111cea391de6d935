import { expect, test } from 'vitest'
import type { GrpcConnection } from '../../../../../../src/service/engine/transport/grpc/connection.ts'
import { grpcPool } from '../../../../../../src/service/engine/transport/grpc/transport.ts'

const OPTIONS = { deadlineAt: Date.now() + 5000, signal: new AbortController().signal }

/** Connections that hold their calls until `finish`. */
function held() {
  const connections: { calls: number; closed: boolean }[] = []
  const { promise, resolve: finish } = Promise.withResolvers<never>()
  const pool = grpcPool((): GrpcConnection => {
    const connection = { calls: 0, closed: false }
    connections.push(connection)
    return {
      send() {
        connection.calls++
        return promise
      },
      async close() {
        connection.closed = true
      },
    }
  })
  return { pool, connections, finish: finish as (value?: unknown) => void }
}

test('grpcPool: sends at most 100 concurrent calls over one connection', () => {
  const { pool, connections } = held()

  for (let count = 0; count < 250; count++) void pool.send('getSystemInfo', {}, OPTIONS)

  expect(connections.map(({ calls }) => calls)).toEqual([100, 100, 50])
})

test('grpcPool: opens no connection while another one has room', async () => {
  const { pool, connections, finish } = held()
  const calls = Array.from({ length: 101 }, () => pool.send('getSystemInfo', {}, OPTIONS))
  finish()
  await Promise.all(calls)

  await Promise.all(Array.from({ length: 200 }, () => pool.send('getSystemInfo', {}, OPTIONS)))

  expect(connections).toHaveLength(2)
})

test('grpcPool: opens at most 32 connections, which then share further calls evenly', () => {
  const { pool, connections } = held()

  for (let count = 0; count < 3200 + 64; count++) void pool.send('getSystemInfo', {}, OPTIONS)

  expect(connections.map(({ calls }) => calls)).toEqual(Array.from({ length: 32 }, () => 102))
})

test('grpcPool: closes all connections', async () => {
  const { pool, connections } = held()
  for (let count = 0; count < 101; count++) void pool.send('getSystemInfo', {}, OPTIONS)

  await pool.close()

  expect(connections.map(({ closed }) => closed)).toEqual([true, true])
})

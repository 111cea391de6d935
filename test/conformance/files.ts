/**
 * What a service reads of the disk, on a runtime that has one: certificates of the way to the engine, and local traces.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { describe, expect, inject } from 'vitest'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { toTraceDocument } from '../../src/shared/wire/trace/document.ts'
import { makeCertificates } from '../support/certificates.ts'
import type { ServeEntry } from '../support/entries.ts'
import { test } from '../support/fixtures.ts'

/** `serve` is given the one folder that has to be readable. */
export function describeFiles(runtime: string, serve: (folder: string) => ServeEntry): void {
  describe(`files on ${runtime}`, () => {
    const catalog = `files-${crypto.randomUUID()}`
    let folder: string
    let env: Record<string, string>

    test.beforeAll(async ({ engine, startWorker, folder: ownFolder, cleanup }) => {
      folder = ownFolder
      const { authority, server, client } = await makeCertificates()
      const tls = { ...server, ca: authority.cert, ALPNProtocols: ['h2'], requestCert: true, rejectUnauthorized: true }
      const secured = await startTcpProxy(engine.address, { tls })
      cleanup.defer(() => secured.close())
      await startWorker({ taskQueue: catalog })
      const pem = async (name: string, text: string) => {
        await writeFile(join(folder, name), text)
        return join(folder, name)
      }
      env = {
        PATH: process.env.PATH ?? '',
        SERVICE_CATALOG_ID: catalog,
        SERVICE_PORT: '0',
        ENGINE_ADDRESS: secured.address,
        ENGINE_TLS_CA: await pem('ca.pem', authority.cert),
        ENGINE_TLS_CERT: await pem('cert.pem', client.cert),
        ENGINE_TLS_KEY: await pem('key.pem', client.key),
        ENGINE_TLS_SERVER_NAME: 'localhost',
        SERVICE_TRACE_LOCAL_ON: 'true',
        SERVICE_TRACE_LOCAL_DIR: folder,
      }
    })

    test(`files on ${runtime}: certificates open the way to the engine, and a local trace is read`, async () => {
      const service = await serve(folder)(env)
      const connection = await Connection.connect({ address: inject('engine').address })
      const workflowId = crypto.randomUUID()
      const local = join(folder, `${workflowId}.json`)
      const client = new Client({ connection })
      const handle = await client.workflow.start('saysTrace', {
        taskQueue: catalog,
        workflowId,
        args: [{ trace: { local } }],
      })
      await handle.result()
      const runId = handle.firstExecutionRunId
      const run = {
        id: runId,
        parentId: null,
        kind: 'workflow',
        name: 'kept',
        at: 1,
        phase: 'ended',
        output: 'of the file',
      } as const
      await writeFile(local, toTraceDocument({ namespace: 'default', workflowId, runId, entries: [run] }))

      await until('the engine is reachable', async () => {
        const ready = await fetch(`${service.url}/ready`)
        return (await ready.json()).engine === 'reachable'
      })
      const answer = await fetch(`${service.url}/workflow/${workflowId}/trace-log`)
      const traceLog = await answer.json()
      await connection.close()
      await service.stop()

      expect(traceLog).toMatchObject({ source: 'local', warnings: [], data: { output: 'of the file' } })
    })

    test(`files on ${runtime}: TLS to an engine that speaks plain text names ENGINE_TLS`, async () => {
      const { ENGINE_TLS_CERT: _cert, ENGINE_TLS_KEY: _key, ...tls } = env
      const service = await serve(folder)({ ...tls, ENGINE_ADDRESS: inject('engine').address })

      await until('it says so', () =>
        /wrong.version.number\); the engine does not seem to use TLS: check ENGINE_TLS,/i.test(service.output()),
      )
      await service.stop()
    })

    test(`files on ${runtime}: TLS to an IP address names ENGINE_TLS_SERVER_NAME`, async () => {
      const { ENGINE_TLS_SERVER_NAME: _name, ...unnamed } = env
      const service = await serve(folder)(unnamed)

      await until('it says so', () => /"cannot use the engine yet:[^"]*ENGINE_TLS_SERVER_NAME/.test(service.output()))
      await service.stop()
    })

    test(`files on ${runtime}: a certificate that cannot be read is an error that names its variable`, async () => {
      const starting = serve(folder)({ ...env, ENGINE_TLS_CA: join(folder, 'none.pem') })

      await expect(starting).rejects.toThrow('ENGINE_TLS_CA names a file that cannot be read (ENOENT)')
    })
  })
}

import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import type { RunningS3 } from '../../dev/servers/s3.ts'
import { tracesFromFile } from '../../src/service/traces/from-file.ts'
import { tracesFromKv } from '../../src/service/traces/from-kv.ts'
import { tracesFromObjects } from '../../src/service/traces/from-objects.ts'
import type { KvStore } from '../../src/shared/stores/kv/kv-store.ts'
import { createObjectStore } from '../../src/shared/stores/s3/object-store.ts'
import { spansFile, spansKey, TRACE_TEMPLATE } from '../../src/shared/wire/trace/keys.ts'
import { fillTemplate } from '../../src/shared/wire/trace/template.ts'
import { storeCall } from '../conformance/kv-store.ts'
import {
  describeStoredTraces,
  storedDocument,
  storedEntries,
  traceCall,
  tracedRun,
} from '../conformance/trace-source.ts'
import { test } from '../support/fixtures.ts'

const MAX_BYTES = 100_000

let folder: string
let s3: RunningS3
let kv: KvStore

test.beforeAll(async ({ folder: ownFolder, seaweed, kvStore }) => {
  folder = ownFolder
  s3 = seaweed
  kv = kvStore
  await mkdir(join(folder, 'traces/default'), { recursive: true })
})

const pathOf = (runId: string) => fillTemplate(TRACE_TEMPLATE, { namespace: 'default', runId })
const put = (key: string, text: string) =>
  createObjectStore(s3).put(
    { bucket: s3.bucket, key },
    { bytes: new TextEncoder().encode(text), contentType: 'application/json', etag: null },
    storeCall(),
  )
const limits = { namespace: 'default', isOnlyNamespace: true, maxBytes: MAX_BYTES }

describeStoredTraces('remote', () => ({
  source: tracesFromObjects({ objects: createObjectStore(s3), rules: s3, ...limits }),
  destinations: (runId) => ({ remote: `${s3.endpoint}/${s3.bucket}/traces/${pathOf(runId)}` }),
  put: async (runId, text) => void (await put(`traces/${pathOf(runId)}`, text)),
}))

describeStoredTraces('local', () => ({
  source: tracesFromFile({ directory: join(folder, 'traces'), ...limits }),
  destinations: () => ({}),
  put: async (runId, text) => writeFile(join(folder, 'traces', pathOf(runId)), text),
}))

describe('remote', () => {
  const find = (remote: string, rules: Partial<RunningS3> = {}) =>
    tracesFromObjects({ objects: createObjectStore(s3), rules: { ...s3, ...rules }, ...limits }).find(
      tracedRun({ destinations: async () => ({ remote }) }),
      traceCall(),
    )

  test('remote: a run without a destination is not searched for', async () => {
    const source = tracesFromObjects({
      objects: { get: () => Promise.reject(new Error('asked')) },
      rules: s3,
      ...limits,
    })

    expect(await source.find(tracedRun(), traceCall())).toBeNull()
  })

  test('remote: a missing trace of a closed run is reported', async () => {
    await expect(find(`${s3.endpoint}/${s3.bucket}/not-there`)).rejects.toThrow(
      'The object storage has no object at the trace destination (404)',
    )
  })

  test('remote: a key that is percent-encoded in the destination is found', async () => {
    await put('other/a b+ü%.json', storedDocument())

    expect((await find(`${s3.endpoint}/${s3.bucket}/other/a%20b%2B%C3%BC%25.json`))?.entries).toEqual(storedEntries())
  })

  test('remote: a destination that is not allowed is not requested (threat 85)', async () => {
    const source = tracesFromObjects({
      objects: { get: () => Promise.reject(new Error('asked')) },
      rules: s3,
      ...limits,
    })
    const destinations = async () => ({ remote: 'http://169.254.169.254/latest/meta-data' })

    await expect(source.find(tracedRun({ destinations }), traceCall())).rejects.toThrow(
      'The trace destination is not allowed: it is not on SERVICE_STORAGE_ENDPOINT',
    )
  })
})

describe('local', () => {
  const find = (local: string | null, directory = join(folder, 'traces')) =>
    tracesFromFile({ directory, ...limits }).find(
      tracedRun({ destinations: async () => (local === null ? {} : { local }) }),
      traceCall(),
    )
  const document = storedDocument()
  const putFile = async (path: string) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, document)
    return path
  }
  const OUTSIDE = 'The trace destination is not allowed: it is outside SERVICE_TRACE_LOCAL_DIR'

  test('local: a destination in the folder may have any name', async () => {
    expect(await find(await putFile(join(folder, 'traces/below/other name.json')))).toMatchObject({ whole: true })
  })

  test('local: a destination outside the folder is not read, and its existence is not revealed (threat 85)', async () => {
    const outside = await putFile(join(folder, 'outside/secret.json'))

    for (const path of [
      outside,
      join(folder, 'outside/nothing.json'),
      join(folder, 'traces/../outside/secret.json'),
      '/etc/passwd',
      folder,
    ])
      await expect(find(path)).rejects.toThrow(OUTSIDE)
    await expect(find(await putFile(join(folder, 'traces-of-others/secret.json')))).rejects.toThrow(OUTSIDE)
  })

  test('local: for a destination outside the folder, the usual file in the folder is read', async () => {
    const usual = await putFile(join(folder, 'traces', pathOf('run-1')))

    expect(await find('/elsewhere/traces/default/run-1.json')).toMatchObject({ whole: true, localPath: usual })
    await rm(usual)
    await expect(find('/elsewhere/traces/default/run-1.json')).rejects.toThrow(OUTSIDE)
  })

  test('local: links out of the folder are not followed (threat 85)', async () => {
    const outside = await putFile(join(folder, 'outside/secret.json'))
    await symlink(outside, join(folder, 'traces/file-link.json'))
    await symlink(dirname(outside), join(folder, 'traces/folder-link'))

    await expect(find(join(folder, 'traces/file-link.json'))).rejects.toThrow(OUTSIDE)
    await expect(find(join(folder, 'traces/folder-link/secret.json'))).rejects.toThrow(OUTSIDE)
  })

  test('local: the folder itself may be a link', async () => {
    await putFile(join(folder, 'traces/linked.json'))
    await symlink(join(folder, 'traces'), join(folder, 'link-to-traces'))

    expect(await find(join(folder, 'link-to-traces/linked.json'), join(folder, 'link-to-traces'))).toMatchObject({
      whole: true,
    })
  })

  test('local: a pipe or a folder is rejected at once (threat 85)', async () => {
    execFileSync('mkfifo', [join(folder, 'traces/pipe.json')])

    await expect(find(join(folder, 'traces/pipe.json'))).rejects.toThrow('The path is not a regular file')
    await expect(find(join(folder, 'traces/below'))).rejects.toThrow('The path is not a regular file')
  })

  test('local: a missing folder means no trace', async () => {
    expect(await find(null, join(folder, 'no-such-folder'))).toBeNull()
  })

  test('local: until a run is archived, its spans are read from their file', async () => {
    const span = storedEntries({ runId: 'waiting' })[1]
    await mkdir(join(folder, 'traces/.spans'), { recursive: true })
    await writeFile(join(folder, 'traces', spansFile('waiting')), `${JSON.stringify(span)}\n`)

    const found = await tracesFromFile({ directory: join(folder, 'traces'), ...limits }).find(
      tracedRun({ runId: 'waiting' }),
      traceCall(),
    )

    expect(found).toEqual({ entries: [span], whole: false, warnings: [] })
  })
})

describe('kvstore', () => {
  const span = (runId: string) => storedEntries({ runId })[1]
  const append = (runId: string, values: string[]) => kv.append(spansKey('default', runId), values, 60_000, storeCall())
  const find = (runId: string, maxBytes = MAX_BYTES) =>
    tracesFromKv({ kv, namespace: 'default', maxBytes }).find(tracedRun({ runId }), traceCall())

  test('kvstore: returns null for a run without spans', async () => {
    expect(await find('unknown')).toBeNull()
  })

  test('kvstore: returns the spans of the run, not a whole trace', async () => {
    await append('spans', [JSON.stringify(span('spans')), 'not an entry'])

    const found = await find('spans')
    expect(found).toEqual({ entries: [span('spans')], whole: false, warnings: ['1 of the spans could not be read'] })
  })

  test('kvstore: ignores the spans of another namespace (threat 23)', async () => {
    await kv.append(spansKey('other', 'elsewhere'), [JSON.stringify(span('elsewhere'))], 60_000, storeCall())

    expect(await find('elsewhere')).toBeNull()
  })

  test('kvstore: spans beyond the limit are cut, with a warning (threat 88)', async () => {
    const text = JSON.stringify(span('many'))
    await append('many', [text, text])

    const found = await find('many', text.length)

    expect(found?.entries).toEqual([span('many')])
    expect(found?.warnings).toEqual([`the spans are larger than ${text.length} bytes; the rest is not shown`])
  })
})

import { expect, test } from 'vitest'
import { parseTracesConfig, parseWorkerConfig } from '../../../../src/config/worker.ts'
import { traceTemplates } from '../../../../src/worker/archive/destinations.ts'

const REMOTE = {
  SERVICE_TRACE_REMOTE_ON: 'true',
  SERVICE_STORAGE_ACCESS_KEY_ID: 'id',
  SERVICE_STORAGE_SECRET_ACCESS_KEY: 'secret',
  SERVICE_STORAGE_REGION: 'eu-central-1',
}

test("worker's traces: remote tracing needs a bucket, and that is said with all other faults", () => {
  const parse = () => parseWorkerConfig(REMOTE, { catalogRequired: true })

  expect(parse).toThrow('SERVICE_CATALOG_ID is required')
  expect(parse).toThrow('SERVICE_TRACE_REMOTE_ON=true needs SERVICE_STORAGE_BUCKET')
})

test("worker's traces: nothing set is no tracing, and the catalog says so", () => {
  expect(traceTemplates(parseTracesConfig({}))).toBe(false)
})

test("worker's traces: a folder alone is for those who read", () => {
  expect(traceTemplates(parseTracesConfig({ SERVICE_TRACE_LOCAL_DIR: '/var/traces' }))).toBe(false)
})

test("worker's traces: the catalog names the places that are written to, without a secret", () => {
  const local = { SERVICE_TRACE_LOCAL_ON: 'true', SERVICE_TRACE_LOCAL_DIR: '/var/traces' }

  const onAws = traceTemplates(parseTracesConfig({ ...REMOTE, ...local, SERVICE_STORAGE_BUCKET: 'my-traces' }))
  const elsewhere = { SERVICE_STORAGE_BUCKET: 'my-traces', SERVICE_STORAGE_ENDPOINT: 'https://minio.example.com/' }

  expect(onAws).toEqual({
    remote: 'https://my-traces.s3.eu-central-1.amazonaws.com/traces/{namespace}/{runId}.json',
    local: '/var/traces/{namespace}/{runId}.json',
  })
  expect(traceTemplates(parseTracesConfig({ ...REMOTE, ...elsewhere }))).toEqual({
    remote: 'https://minio.example.com/my-traces/traces/{namespace}/{runId}.json',
  })
})

/** Sends the requests of the API reference in order and compares the responses with the pages. */
import { tmpdir } from 'node:os'
import { expect } from 'vitest'
import { catalog } from '../../examples/catalog.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { readApiExamples } from '../support/api-docs.ts'
import { EXAMPLE_WORKER } from '../support/example-worker.ts'
import { type InProcessService, test as sharedTest } from '../support/fixtures.ts'
import { tryOutAll } from '../support/shown-examples.ts'

let api: InProcessService

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => EXAMPLE_WORKER)
  // The same as in `npm run dev`.
  .extend('serviceEnv', { scope: 'file' }, () => ({
    SERVICE_DOCS_ON: 'true',
    SERVICE_CONSOLE_ON: 'true',
    SERVICE_TRACE_LOCAL_ON: 'true',
    SERVICE_TRACE_LOCAL_DIR: tmpdir(),
    ENGINE_UI_URL: 'http://localhost:8233',
  }))

test.beforeAll(async ({ service }) => {
  api = service
  await until('the catalog is published', async () => (await api.call('GET', '/workflow/catalog')).status === 200)
})

// The document leaves out parts of the schemas.
test('GET /workflow/catalog: serves every key of the published example catalog', async () => {
  const { body } = await api.call('GET', '/workflow/catalog')

  expect(body).toEqual({ catalog: api.catalog, inputsChecked: true, workflows: catalog.workflows, activities: [] })
})

test('docs/api: each example gets the documented response', async () => {
  const examples = readApiExamples()

  await tryOutAll(api, api.catalog, examples)

  expect(examples.length).toBeGreaterThan(20)
})

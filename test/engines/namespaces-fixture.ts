/** One service for two namespaces, with workers on the same task queue in both. */
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'
import { testCatalog } from '../support/test-catalog.ts'
import type * as workflows from '../support/workflows.ts'

const acmeCatalog = defineCatalog<Pick<typeof workflows, 'echo' | 'waitForSignal'>>({
  echo: { description: 'Echo of acme.' },
  waitForSignal: {},
})

export const PREFIXES = { own: '', acme: '/namespaces/acme' }

export const test = testWithOwnEngine({ namespaces: ['acme'] })
  .extend('workers', { scope: 'file' }, ({ startWorker }) =>
    Promise.all([startWorker({ catalog: testCatalog }), startWorker({ namespace: 'acme', catalog: acmeCatalog })]),
  )
  .extend('both', { scope: 'file' }, ({ serve, workers: _ }) => {
    return serve({ ENGINE_NAMESPACES: 'acme', SERVICE_METRICS_ON: 'true' })
  })

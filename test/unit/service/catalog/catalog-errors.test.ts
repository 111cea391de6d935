import { expect, test } from 'vitest'
import { createCatalogs } from '../../../../src/service/catalog/catalogs.ts'
import type { Engine } from '../../../../src/service/model/engine.ts'
import { ServiceError } from '../../../../src/service/model/errors.ts'

const away = new ServiceError('EngineUnavailableError', 'The workflow engine is not responding.', {
  details: { workflowId: '$catalog:shop', runId: 'a run of the catalog', retryAfterSeconds: 1 },
})

test('catalogs: an error of a read does not carry the ids of the catalog run', async () => {
  const engine = { describe: () => Promise.reject(away) } as Partial<Engine> as Engine
  const catalogs = createCatalogs({ engine, namespace: 'default', ttlMs: 5000 })

  const error = await Promise.resolve(catalogs.published('shop')).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ error: 'EngineUnavailableError', details: { retryAfterSeconds: 1 } })
  expect(error).not.toHaveProperty('details.workflowId')
  expect(error).not.toHaveProperty('details.runId')
})

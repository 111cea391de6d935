import type { Engine } from '../../../src/service/model/engine.ts'
import { createWorkflows } from '../../../src/service/stack.ts'
import { anEngine, DEPLOYMENT, makeCatalogs } from './catalog-fixture.ts'

export function makeWorkflows(verbs: Partial<Engine> = {}, deployment = DEPLOYMENT) {
  const fixture = makeCatalogs()
  const engine = anEngine(verbs)
  const options = {
    engine,
    catalogs: fixture.catalogs,
    traceSources: [],
    traceMaxBytes: 1000,
    deployment,
    messageTimeoutMs: 12_345,
    defaults: { catalog: 'orders', namespace: 'default' },
    resultCacheBytes: 0,
  }
  return { fixture, workflows: createWorkflows(options) }
}

import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import type { Workflows } from '../../domain/workflows.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { catalogId } from '../path.ts'

// A browser drops a 304 that does not say who may read it.
const RETAINED_HEADERS = [...RETAINED_304_HEADERS, 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']

/** Which workflows can be started. */
export function catalog(workflows: Workflows, defaultCatalog: string) {
  const etagged = etag({ retainedHeaders: RETAINED_HEADERS })

  return new Hono<Env>()
    .get('/', etagged, async (c) => answer(c, await workflows.catalog(defaultCatalog, call(c))))
    .get('/:catalog', etagged, async (c) => answer(c, await workflows.catalog(catalogId(c), call(c))))
}

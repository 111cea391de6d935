import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import type { Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { catalogId } from '../path.ts'

// Those that every response has: the page that gets a 304 must be able to read it.
const RETAINED = [
  ...RETAINED_304_HEADERS,
  'X-Request-Id',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
]

/** Lists the workflows that can be started. */
export function catalog(workflows: Workflows, defaultCatalog: string) {
  const notModified = etag({ retainedHeaders: RETAINED })
  return new Hono<Env>()
    .get('/', notModified, async (c) => jsonResponse(c, await workflows.catalog(defaultCatalog, toCall(c))))
    .get('/:catalog', notModified, async (c) => jsonResponse(c, await workflows.catalog(catalogId(c), toCall(c))))
}

import { Hono } from 'hono'
import { etag } from 'hono/etag'
import type { Workflows } from '../../domain/workflows.ts'
import { type Env, toCall } from '../context.ts'
import { jsonResponse } from '../json-response.ts'
import { catalogId } from '../path.ts'

/** Lists the workflows that can be started. */
export function catalog(workflows: Workflows, defaultCatalog: string) {
  return new Hono<Env>()
    .get('/', etag(), async (c) => jsonResponse(c, await workflows.catalog(defaultCatalog, toCall(c))))
    .get('/:catalog', etag(), async (c) => jsonResponse(c, await workflows.catalog(catalogId(c), toCall(c))))
}

import { Hono } from 'hono'
import { etag } from 'hono/etag'
import type { Workflows } from '../../domain/workflows.ts'
import { answer } from '../answer.ts'
import { call, type Env } from '../context.ts'
import { catalogId } from '../path.ts'

/** Which workflows can be started. */
export function catalog(workflows: Workflows, defaultCatalog: string) {
  return new Hono<Env>()
    .get('/', etag(), async (c) => answer(c, await workflows.catalog(defaultCatalog, call(c))))
    .get('/:catalog', etag(), async (c) => answer(c, await workflows.catalog(catalogId(c), call(c))))
}

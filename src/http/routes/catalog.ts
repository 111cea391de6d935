import { type Context, Hono } from 'hono'
import type { Workflows } from '../../domain/model/workflows.ts'
import { createConstantJson } from '../constant-json.ts'
import { type Env, toCall } from '../context.ts'
import { catalogId } from '../path.ts'

/** Lists the workflows that can be started. */
export function catalog(workflows: Workflows, defaultCatalog: string) {
  const constantJson = createConstantJson()

  async function list(c: Context<Env>, catalog: string): Promise<Response> {
    const listing = await workflows.catalog(catalog, toCall(c))
    return constantJson(c, listing.workflows, () => listing)
  }

  return new Hono<Env>().get('/', (c) => list(c, defaultCatalog)).get('/:catalog', (c) => list(c, catalogId(c)))
}

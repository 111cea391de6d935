import type { CatalogEntry, HandlerEntry, JsonSchema } from '../../../../../src/shared/wire/catalog.ts'
import { makeApi } from '../../http/api.ts'

export function apiOf(
  workflows: CatalogEntry[],
  options: Parameters<typeof makeApi>[0] = {},
  activities: HandlerEntry[] = [],
) {
  return makeApi({
    workflows: { catalog: async ({ catalog }) => ({ catalog, inputsChecked: true, workflows, activities }) },
    ...options,
  })
}

// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
export async function documentOf(workflows: CatalogEntry[], activities: HandlerEntry[] = []): Promise<any> {
  return (await apiOf(workflows, {}, activities).call('GET', '/openapi.json')).json()
}

export function entry(name: string, inputSchema: JsonSchema | null = null): CatalogEntry {
  const handlers = { signals: [], queries: [], updates: [] }
  return { name, description: null, inputSchema, inputOptional: null, outputSchema: null, aliases: [], ...handlers }
}

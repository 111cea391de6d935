import { readdir, readFile } from 'node:fs/promises'
import { collect, compareByKey, compareLists, type Difference } from './differences.ts'
import { compareOpenApi } from './openapi.ts'
import { type Schema, schemaComparison } from './schemas.ts'
import { compareTypes } from './types.ts'

/** The texts of the baselines, by file name. */
export type Surface = Record<string, string>

const RELEASED = new URL('released/', import.meta.url)

/** The surface of the last release. */
export async function readReleased(): Promise<Surface> {
  const files = await readdir(RELEASED)
  const texts = files.map(async (file) => [file, await readFile(new URL(file, RELEASED), 'utf8')] as const)
  return Object.fromEntries(await Promise.all(texts))
}

/** All differences, with each file of the surface compared by its meaning. */
export async function compareSurfaces(before: Surface, now: Surface): Promise<Difference[]> {
  const differences: Difference[] = []
  // A file that is missing on one side is a difference too.
  for (const file of Object.keys({ ...before, ...now })) {
    const [one = '', other = ''] = [before[file], now[file]]
    if (file === 'types.txt') differences.push(...(await compareTypes(one, other)))
    else if (file === 'openapi.json') differences.push(...compareOpenApi(JSON.parse(one), JSON.parse(other)))
    else if (file === 'mcp-tools.json') differences.push(...compareTools(JSON.parse(one), JSON.parse(other)))
    else differences.push(...compareLists(one, other))
  }
  return differences
}

/** The schemas of the arguments of MCP tools, by name. */
function compareTools(before: Record<string, Schema>, now: Record<string, Schema>): Difference[] {
  return collect((report) => {
    const compare = schemaComparison({ before: {}, now: {} }, report)
    const nameOf = (tool: string) => `tool ${tool}`
    compareByKey(before, now, { nameOf, both: (one, other, name) => compare(one, other, name, 'request') }, report)
  })
}

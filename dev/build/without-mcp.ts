/** Builds the service without the front for agents, to measure what it costs. */
import { relative } from 'node:path'
import type { Plugin } from 'rolldown'

const EMPTY = new Map([
  ['src/service/fronts/mcp/endpoints.ts', 'export const mcpEndpoints = []'],
  ['src/service/runs/read-chain.ts', 'export const createReadChain = () => {}'],
])

export function withoutMcp(): Plugin {
  return { name: 'without-mcp', load: (id) => EMPTY.get(relative(process.cwd(), id)) }
}

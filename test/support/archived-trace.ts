import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../src/cli/dev/servers/until.ts'
import { parseTraceDocument, type TraceDocument } from '../../src/shared/wire/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/shared/wire/trace/tree.ts'

/**
 * Waits until the run's trace is in the folder, with at least one span of a step if `hasSpans`:
 * spans that arrive late are added.
 */
export async function archivedTrace(
  folder: string,
  runId: string,
  { hasSpans = false } = {},
): Promise<{ tree: TraceNode; document: TraceDocument }> {
  const path = join(folder, 'default', `${runId}.json`)
  return until('the run is archived', async () => {
    const { found: document } = parseTraceDocument(await readFile(path, 'utf8'))
    const tree = toTraceTree(document.entries)
    if (tree === null) throw new Error('The trace has no root')
    return (!hasSpans || tree.children.some(({ children }) => children.length > 0)) && { tree, document }
  })
}

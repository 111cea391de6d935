import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '../../src/cli/dev/servers/until.ts'
import { parseTraceDocument, type TraceDocument } from '../../src/protocol/trace/document.ts'
import { type TraceNode, toTraceTree } from '../../src/protocol/trace/tree.ts'

/** Waits until the run's trace is in the folder. */
export async function archivedTrace(
  folder: string,
  runId: string,
): Promise<{ tree: TraceNode; document: TraceDocument }> {
  const path = join(folder, 'default', `${runId}.json`)
  const text = await until('the run is archived', () => readFile(path, 'utf8').catch(() => null))
  const { found: document } = parseTraceDocument(text)
  const tree = toTraceTree(document.entries)
  if (tree === null) throw new Error('The trace has no root')
  return { tree, document }
}

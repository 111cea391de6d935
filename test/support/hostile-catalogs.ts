/** Catalogs that no worker of ours would publish, as the bytes they are. */
import { Connection } from '@temporalio/client'
import { inject } from 'vitest'
import { numbers } from '../../dev/hostile-schemas.ts'

/** Definition and memo as JSON text, because a worker may write JSON that no JavaScript value represents. */
export interface RawCatalog {
  catalog: string
  definition: string
  workflowNames: string
}

export async function publishRaw({ catalog, definition, workflowNames }: RawCatalog): Promise<void> {
  const connection = await Connection.connect({ address: inject('engine').address })
  try {
    await connection.workflowService.startWorkflowExecution({
      namespace: 'default',
      workflowId: `$catalog:${catalog}`,
      workflowType: { name: '$catalog' },
      taskQueue: { name: '$catalog' },
      input: { payloads: [payload(definition)] },
      memo: { fields: { workflowNames: payload(workflowNames), hash: payload('"raw"'), traces: payload('false') } },
      workflowStartDelay: { seconds: 315_360_000 as never },
      requestId: crypto.randomUUID(),
    })
  } finally {
    await connection.close()
  }
}

function payload(json: string) {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(json) }
}

/** A catalog with one workflow a schema, named like it. */
export function withSchemas(catalog: string, schemas: Record<string, unknown>): RawCatalog {
  const names = Object.keys(schemas)
  return {
    catalog,
    definition: JSON.stringify({ workflows: names.map((name) => ({ name, inputSchema: schemas[name] })) }),
    workflowNames: JSON.stringify(Object.fromEntries(names.map((name) => [name, name]))),
  }
}

/** The innermost value inside `levels` of what `wrap` makes. */
export function nested(levels: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  return numbers(levels).reduce((inner) => wrap(inner), innermost)
}

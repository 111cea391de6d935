import type { StartCommand } from '../../../../src/service/model/commands.ts'
import { admitStart } from '../../../../src/service/start/admit-start.ts'
import { aCall } from '../../call.ts'
import { DEPLOYMENT, type makeCatalogs, SEARCH_ATTRIBUTES } from '../catalog-fixture.ts'

type Fixture = ReturnType<typeof makeCatalogs>

export async function admitted({ catalogs, now }: Fixture, command: Partial<StartCommand> = {}, call = aCall()) {
  const { request, traces } = await admitStart(
    { catalogs, deployment: DEPLOYMENT, now, searchAttributes: SEARCH_ATTRIBUTES },
    { workflowName: 'order', catalog: 'orders', args: [{ amount: 1 }], argumentPointer: '/input', ...command },
    call,
  )
  return { workflowName: request.workflowName, traces }
}

export const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }

import { admitStart } from '../../../../src/domain/admission/admit-start.ts'
import type { StartCommand } from '../../../../src/domain/model/workflows.ts'
import { aCall } from '../../call.ts'
import { DEPLOYMENT, type makeCatalogs } from '../catalog-fixture.ts'

type Fixture = ReturnType<typeof makeCatalogs>

export function admitted({ catalogs, now }: Fixture, command: Partial<StartCommand> = {}, call = aCall()) {
  return admitStart(
    { catalogs, deployment: DEPLOYMENT, now },
    { workflowName: 'order', catalog: 'orders', args: [{ amount: 1 }], argumentPointer: '/input', ...command },
    call,
  )
}

export const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }

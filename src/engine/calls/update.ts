import type { Call } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import type { Wire } from '../context.ts'
import { outcomeOf } from './update-outcome.ts'

export async function update(
  wire: Wire,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<unknown> {
  const args = await wire.payloads.encode(message.args)
  return outcomeOf(wire, { ref, message, args, updateId }, call)
}

import type { Call } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import type { EngineContext } from '../context.ts'
import { outcomeOf } from './update-outcome.ts'

export async function update(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<unknown> {
  const args = await context.payloads.encode(message.args)
  return outcomeOf(context, { ref, message, args, updateId }, call)
}

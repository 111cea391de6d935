import type { Call } from '../../domain/model/call.ts'
import type { Message, UpdateRef } from '../../domain/model/engine.ts'
import type { ExecutionRef } from '../../domain/model/execution.ts'
import type { EngineContext } from '../context.ts'
import { requestHeaders } from './request-headers.ts'
import { type Update, untilAccepted, untilCompleted } from './update-outcome.ts'

export async function update(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<unknown> {
  return untilCompleted(context, await toUpdate(context, ref, message, updateId, call), call)
}

export async function startUpdate(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<UpdateRef> {
  const runId = await untilAccepted(context, await toUpdate(context, ref, message, updateId, call), call)
  return { workflowId: ref.workflowId, runId, updateId }
}

async function toUpdate(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<Update> {
  const { header, payloads } = requestHeaders(call, message.headers)
  return { ref, message, args: await context.payloads.encode(message.args, payloads), header, updateId }
}

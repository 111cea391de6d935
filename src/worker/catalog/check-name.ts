/** Why the name of a workflow or handler cannot be published; null when it can. */
import { handlerNameIssue, workflowNameIssue } from '../../shared/wire/names.ts'

export function workflowNameError(name: string): string | null {
  return workflowNameIssue(name) ?? inheritedNameError(name)
}

export function handlerNameError(name: string): string | null {
  return handlerNameIssue(name) ?? inheritedNameError(name)
}

/** Workers look names up in plain objects, where the properties of `Object.prototype` are always found. */
function inheritedNameError(name: string): string | null {
  return Object.hasOwn(Object.prototype, name)
    ? 'is reserved: every JavaScript object has a property of that name'
    : null
}

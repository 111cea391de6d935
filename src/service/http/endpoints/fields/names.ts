/** Ids and names, as bodies contain them and as `path.ts` reads them from paths. */
import { checkedString } from '../../../../shared/wire/checked-string.ts'
import {
  activityCatalogIssue,
  activityIdIssue,
  BATCH_ID_PATTERN,
  batchIdIssue,
  catalogIssue,
  characterIssue,
  handlerNameIssue,
  questionKeyIssue,
  runIdIssue,
  scheduledWorkflowIdIssue,
  scheduleIdIssue,
  updateIdIssue,
  workflowIdIssue,
  workflowNameIssue,
} from '../../../../shared/wire/names.ts'
import { UUID_PATTERN } from '../../../../shared/wire/run-ref.ts'
import { jsonForms } from './json-forms.ts'

export const NO_NUL = '[^\\u0000]'

// JSON Schema counts characters, not bytes, so it accepts some strings that are too long.
function nameForm(maxLength: number, forbidden: string, characters = NO_NUL) {
  return { minLength: 1, maxLength, pattern: `^${forbidden}${characters}+$` }
}

const NOT_RESERVED = '(?!\\$|__temporal_|temporal-sys-)'
const NOT_OF_THE_ENGINE = '(?!/_sys/|__temporal_)'
const NOT_A_ROUTE = '(?!(?:\\.{1,2}|catalog|runs|(?:signal|update)-with-start)$)'

export const workflowId = checkedString(workflowIdIssue).register(jsonForms, nameForm(1000, NOT_A_ROUTE + NOT_RESERVED))
export const scheduleId = checkedString(scheduleIdIssue).register(jsonForms, nameForm(977, NOT_RESERVED))
export const scheduledWorkflowId = checkedString(scheduledWorkflowIdIssue).register(
  jsonForms,
  nameForm(979, NOT_RESERVED),
)
export const workflowName = checkedString(workflowNameIssue).register(jsonForms, {
  ...nameForm(1000, NOT_RESERVED),
  description: 'Name of the workflow, or one of its aliases',
})
export const activityName = checkedString(workflowNameIssue).register(jsonForms, {
  ...nameForm(1000, NOT_RESERVED),
  description: 'Type of the activity',
})
export const handlerName = checkedString(handlerNameIssue).register(jsonForms, nameForm(1000, '(?!\\$|__)'))
export const updateId = checkedString(updateIdIssue).register(jsonForms, nameForm(1000, ''))
export const questionKey = checkedString(questionKeyIssue).register(jsonForms, nameForm(1000, ''))
export const activityId = checkedString(activityIdIssue).register(jsonForms, nameForm(1000, ''))
export const batchId = checkedString(batchIdIssue).register(jsonForms, { pattern: `^${BATCH_ID_PATTERN}$` })
export const catalogName = checkedString(catalogIssue).register(jsonForms, nameForm(991, NOT_OF_THE_ENGINE))
export const activityCatalog = checkedString(activityCatalogIssue).register(
  jsonForms,
  nameForm(991, `(?!\\$)${NOT_OF_THE_ENGINE}`),
)

/** Any string that the engine can store. */
export const text = checkedString(characterIssue).register(jsonForms, { pattern: `^${NO_NUL}*$` })

export const requiredText = checkedString((value) =>
  value === '' ? 'must not be empty' : characterIssue(value),
).register(jsonForms, { minLength: 1, pattern: `^${NO_NUL}+$` })

export const runId = checkedString(runIdIssue).register(jsonForms, { pattern: `^${UUID_PATTERN}$` })

const NO_CONTROL = '[^\\u0000-\\u001f\\u007f-\\u009f]'

/** `filterValueIssue` as JSON Schema, for any value and for the name of a workflow. */
export const FILTER_FORM = { pattern: `^${NO_CONTROL}*$` }
export const WORKFLOW_FILTER_FORM = nameForm(1000, NOT_RESERVED, NO_CONTROL)
export const CATALOG_FILTER_FORM = nameForm(991, NOT_OF_THE_ENGINE, NO_CONTROL)

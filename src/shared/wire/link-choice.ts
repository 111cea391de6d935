/** The Temporal header with the label of the choice, in the messages of one-use links. */
export const LINK_CHOICE = 'portico-link-choice'

import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  chat_limit_reached: {
    status: 400,
    text: 'An account can send alerts to {limit} chat rooms. Delete one first.',
    remedy: 'Delete chat rooms that you no longer need. One room can get all kinds of alerts of all sites.',
  },
  mute_limit_reached: {
    status: 400,
    text: 'An account can have {limit} mutes. Delete one first.',
    remedy: 'Delete mutes that you no longer need. One mute can cover all sites, or all kinds of alerts.',
  },
})

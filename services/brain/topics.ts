/** Topics of an entry, and their characters. */
const MAX_TOPICS = 10
const MAX_TOPIC = 40

/** Returns the words of a model that can be topics: they find entries, and no prompt holds them. */
export const topicsIn = (topics: unknown): string[] =>
  !Array.isArray(topics)
    ? []
    : topics.filter((topic): topic is string => typeof topic === 'string' && topic.trim() !== '' && topic.length <= MAX_TOPIC)
      .map((topic) => topic.toWellFormed().trim()).slice(0, MAX_TOPICS)

"""Drives a running service with the Python clients of OpenAI's API, each by its own defaults. Prints a line for each thing that failed."""

import asyncio
import os
import sys
import traceback
from collections.abc import Iterable

import openai
from pydantic import BaseModel, create_model

BASE = os.environ["SERVICE_URL"] + "/v1"
CUT = os.environ["CUT_URL"] + "/v1"
MODEL = "test/model"
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
os.environ["OPENAI_API_KEY"] = "none"


class City(BaseModel):
    city: str


def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def check(value, expected):
    assert expected in str(value), f"{expected!r} is not in {value!r}"


def is_busy(call):
    """A provider's 429 comes as what the client raises for one."""
    try:
        call()
    except Exception as error:
        status = getattr(error, "status_code", None)
        assert status == 429, f"{type(error).__name__} {status}: {error}"
        return
    raise AssertionError("the 429 is lost")


def official():
    client = openai.OpenAI(base_url=BASE)

    def ask(text, **more):
        return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **more)

    check(ask("TEXT").choices[0].message.content, "Hello there.")
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in ask("TEXT", stream=True))
    check(streamed, "Hello there.")
    called = ask("BOTH", tools=[WEATHER]).choices[0].message
    assert [call.function.name for call in called.tool_calls] == ["weather", "weather"]
    results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in called.tool_calls]
    messages = [{"role": "user", "content": "BOTH"}, called, *results]
    check(client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER]).choices[0].message.content, "It is rain")
    parsed = client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "CITY"}], response_format=City)
    assert parsed.choices[0].message.parsed == City(city="Bern")
    picture = [{"type": "text", "text": "PICTURE"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    check(ask(picture).choices[0].message.content, "A picture.")
    assert ask("REFUSE").choices[0].finish_reason == "content_filter"
    refused = client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "REFUSE"}], response_format=City)
    check(refused.choices[0].message.refusal, "I will not.")
    assert ask("LIMIT", max_tokens=5).choices[0].finish_reason == "length"
    try:
        client.chat.completions.parse(model=MODEL, messages=[{"role": "user", "content": "LIMIT"}], response_format=City)
        raise AssertionError("half an answer is parsed")
    except openai.LengthFinishReasonError:
        pass
    check(client.responses.create(model=MODEL, input="TEXT").output_text, "Hello there.")
    with client.responses.stream(model=MODEL, input="TEXT") as stream:
        kinds = [event.type for event in stream]
        check(stream.get_final_response().output_text, "Hello there.")
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    assert client.responses.parse(model=MODEL, input="CITY", text_format=City).output_parsed == City(city="Bern")
    try:
        client.responses.create(model=MODEL, input="TEXT", previous_response_id="resp_1")
        raise AssertionError("previous_response_id is not refused")
    except openai.BadRequestError as error:
        check(error, "whole conversation")
    try:
        client.with_options(max_retries=0).chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "BUSY 61"}])
        raise AssertionError("the 429 is lost")
    except openai.RateLimitError as error:
        assert error.response.headers["retry-after"] == "61"


def retries():
    client = openai.OpenAI(base_url=CUT)
    check(client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "EFFECT one"}]).choices[0].message.content, "Done.")
    check(client.responses.create(model=MODEL, input="EFFECT two").output_text, "Done.")


def langchain():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    for responses in (False, True):
        model = ChatOpenAI(model=MODEL, base_url=BASE, **({"use_responses_api": True} if responses else {}))
        check(model.invoke("TEXT").text, "Hello there.")
        check("".join(part.text for part in model.stream("TEXT")), "Hello there.")
        asked = [HumanMessage("BOTH")]
        bound = model.bind_tools([tool(weather)])
        answer = bound.invoke(asked)
        assert [call["name"] for call in answer.tool_calls] == ["weather", "weather"], answer
        asked += [answer, *(ToolMessage("rain", tool_call_id=call["id"]) for call in answer.tool_calls)]
        check(bound.invoke(asked).text, "It is rain")
        assert model.with_structured_output(City).invoke("CITY") == City(city="Bern")
        assert model.with_structured_output(City, method="function_calling").invoke("CITY") == City(city="Bern")
        picture = HumanMessage([{"type": "text", "text": "PICTURE"}, {"type": "image_url", "image_url": {"url": PIXEL}}])
        check(model.invoke([picture]).text, "A picture.")
        refused = model.invoke("REFUSE")
        check((refused.response_metadata, refused.content), "content_filter")
        short = ChatOpenAI(model=MODEL, base_url=BASE, max_tokens=20, use_responses_api=responses).invoke("LIMIT").response_metadata
        assert short.get("finish_reason") == "length" or short["incomplete_details"]["reason"] == "max_output_tokens", short
        is_busy(lambda: model.invoke("BUSY"))
    check(ChatOpenAI(model=MODEL, base_url=CUT).invoke("EFFECT three").text, "Done.")


def pydantic_ai():
    from pydantic_ai import Agent, BinaryContent
    from pydantic_ai.exceptions import ContentFilterError
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    import base64

    for kind in (OpenAIChatModel, OpenAIResponsesModel):
        model = kind(MODEL, provider=OpenAIProvider(base_url=BASE, api_key="none"))
        check(Agent(model).run_sync("TEXT").output, "Hello there.")
        check(Agent(model, tools=[weather]).run_sync("BOTH").output, "It is rain in Bern")
        assert Agent(model, output_type=City).run_sync("CITY").output == City(city="Bern")
        assert Agent(model, output_type=City, tools=[weather]).run_sync("CITY").output == City(city="Bern")
        content = base64.b64decode(PIXEL.split(",")[1])
        check(Agent(model).run_sync(["PICTURE", BinaryContent(content, media_type="image/png")]).output, "A picture.")

        async def stream():
            async with Agent(model).run_stream("TEXT") as result:
                check(await result.get_output(), "Hello there.")

        asyncio.run(stream())
        try:
            assert Agent(model).run_sync("REFUSE").response.finish_reason == "content_filter"
        except ContentFilterError as error:
            check(error, "ontent filter")
        assert Agent(model, model_settings={"max_tokens": 20}).run_sync("LIMIT").response.finish_reason == "length"
        is_busy(lambda: Agent(model).run_sync("BUSY"))
        first = Agent(model).run_sync("TEXT")
        check(Agent(model).run_sync("TEXT again", message_history=first.all_messages()).output, "Hello there.")
        cut = kind(MODEL, provider=OpenAIProvider(base_url=CUT, api_key="none"))
        check(Agent(cut).run_sync(f"EFFECT {kind.__name__}").output, "Done.")


def openai_agents():
    import agents

    # A name with a slash begins with a provider there.
    NAME = f"openai/{MODEL}"

    agents.set_tracing_disabled(True)
    agents.set_default_openai_client(openai.AsyncOpenAI(base_url=BASE), use_for_tracing=False)
    check(agents.Runner.run_sync(agents.Agent(name="A", instructions="Be brief.", model=NAME), "TEXT").final_output, "Hello there.")
    tool = agents.function_tool(weather)
    ran = agents.Runner.run_sync(agents.Agent(name="B", model=NAME, tools=[tool]), "BOTH")
    check(ran.final_output, "It is rain in Bern")
    again = agents.Runner.run_sync(agents.Agent(name="B", model=NAME, tools=[tool]), ran.to_input_list() + [{"role": "user", "content": "TEXT"}])
    check(again.final_output, "Hello there.")
    assert agents.Runner.run_sync(agents.Agent(name="C", model=NAME, output_type=City), "CITY").final_output == City(city="Bern")

    async def stream():
        result = agents.Runner.run_streamed(agents.Agent(name="D", model=NAME, tools=[tool]), "BOTH")
        async for _ in result.stream_events():
            pass
        check(result.final_output, "It is rain in Bern")

    asyncio.run(stream())

    def ask(text, **settings):
        agent = agents.Agent(name="E", model=NAME, model_settings=agents.ModelSettings(**settings))
        return agents.Runner.run_sync(agent, text)

    picture = [{"type": "input_text", "text": "PICTURE"}, {"type": "input_image", "image_url": PIXEL, "detail": "auto"}]
    check(ask([{"role": "user", "content": picture}]).final_output, "A picture.")
    # It takes no answer that is not whole.
    for text, reason in (("REFUSE", "content_filter"), ("LIMIT", "max_output_tokens")):
        try:
            ask(text, max_tokens=20)
            raise AssertionError(f"{text} gives an answer")
        except agents.exceptions.ModelBehaviorError as error:
            check(error, reason)
    is_busy(lambda: ask("BUSY"))
    agents.set_default_openai_client(openai.AsyncOpenAI(base_url=CUT), use_for_tracing=False)
    check(ask("EFFECT agents").final_output, "Done.")


def lite_llm():
    import litellm

    def ask(text, **more):
        return litellm.completion(model=f"openai/{MODEL}", api_base=BASE, messages=[{"role": "user", "content": text}], **more)

    check(ask("TEXT").choices[0].message.content, "Hello there.")
    check("".join(chunk.choices[0].delta.content or "" for chunk in ask("TEXT", stream=True)), "Hello there.")
    called = ask("BOTH", tools=[WEATHER]).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in called.tool_calls]
    assert len(results) == 2
    messages = [{"role": "user", "content": "BOTH"}, called.model_dump(), *results]
    second = litellm.completion(model=f"openai/{MODEL}", api_base=BASE, messages=messages, tools=[WEATHER])
    check(second.choices[0].message.content, "It is rain")
    picture = [{"type": "text", "text": "PICTURE"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    check(ask(picture).choices[0].message.content, "A picture.")
    assert ask("REFUSE").choices[0].finish_reason == "content_filter"
    assert ask("LIMIT", max_tokens=5).choices[0].finish_reason == "length"
    is_busy(lambda: ask("BUSY"))
    check(ask("CITY", response_format=City).choices[0].message.content, "Bern")
    check(litellm.responses(model=f"openai/{MODEL}", api_base=BASE, input="TEXT").output[-1].content[0].text, "Hello there.")
    cut = litellm.completion(model=f"openai/{MODEL}", api_base=CUT, messages=[{"role": "user", "content": "EFFECT lite"}])
    check(cut.choices[0].message.content, "Done.")


def instructor_():
    import instructor

    modes = [instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA, instructor.Mode.JSON, instructor.Mode.RESPONSES_TOOLS]
    plain = instructor.from_openai(openai.OpenAI(base_url=BASE)).chat.completions

    def talk(*messages, **more):
        return plain.create(model=MODEL, response_model=None, messages=list(messages), **more)

    text = {"role": "user", "content": "TEXT"}
    check(talk(text).choices[0].message.content, "Hello there.")
    check("".join(chunk.choices[0].delta.content or "" for chunk in talk(text, stream=True)), "Hello there.")
    # It executes no tools, so that it has no loop of its own: its program writes it.
    both = {"role": "user", "content": "BOTH"}
    called = talk(both, tools=[WEATHER]).choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in called.tool_calls]
    assert len(results) == 2
    check(talk(both, called.model_dump(), *results, tools=[WEATHER]).choices[0].message.content, "It is rain")
    for mode in modes:
        each = instructor.from_openai(openai.OpenAI(base_url=BASE), mode=mode)
        found = each.chat.completions.create(model=MODEL, response_model=City, messages=[{"role": "user", "content": "CITY"}])
        assert found.city == "Bern", mode
        picture = [{"role": "user", "content": [{"type": "text", "text": "CITY"}, {"type": "image_url", "image_url": {"url": PIXEL}}]}]
        if mode != instructor.Mode.RESPONSES_TOOLS:
            assert each.chat.completions.create(model=MODEL, response_model=City, messages=picture).city == "Bern", mode
    client = instructor.from_openai(openai.OpenAI(base_url=BASE))

    def ask(text):
        return client.chat.completions.create(model=MODEL, response_model=City, messages=[{"role": "user", "content": text}])

    several = instructor.from_openai(openai.OpenAI(base_url=BASE), mode=instructor.Mode.PARALLEL_TOOLS)
    found = several.chat.completions.create(model=MODEL, response_model=Iterable[City], messages=[{"role": "user", "content": "CITY"}])
    assert [each.city for each in found] == ["Bern"]
    # Its tools are models, which are named after their classes.
    Weather = create_model("weather", city=(str, ...))
    found = several.chat.completions.create(model=MODEL, response_model=Iterable[Weather], messages=[both])
    assert [each.city for each in found] == ["Bern", "Rome"]
    parts = list(client.chat.completions.create_partial(model=MODEL, response_model=City, messages=[{"role": "user", "content": "CITY"}]))
    assert parts[-1].city == "Bern"
    for word, expected in (("REFUSE", "I will not."), ("LIMIT", "incomplete"), ("BUSY", "429")):
        try:
            given = ask(word)
        except Exception as error:
            check(f"{type(error).__name__} {error!r} {error}", expected)
        else:
            raise AssertionError(f"{word} gives {given}")
    cut = instructor.from_openai(openai.OpenAI(base_url=CUT))
    assert cut.chat.completions.create(model=MODEL, response_model=City, messages=[{"role": "user", "content": "EFFECT six"}]).city == "Bern"


failed = 0
for part in (official, retries, langchain, pydantic_ai, openai_agents, lite_llm, instructor_):
    try:
        part()
        print(f"ok {part.__name__}", flush=True)
    except Exception:
        failed += 1
        print(f"NOT {part.__name__}\n{traceback.format_exc()[-2500:]}", flush=True)
sys.exit(1 if failed else 0)

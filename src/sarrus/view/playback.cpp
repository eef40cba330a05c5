#include "sarrus/view/playback.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sarrus/math/error.h"
#include "sarrus/view/live_command.h"

namespace sarrus::view {

Message notice(std::string_view kind, std::string_view text, std::string_view command) {
  nlohmann::ordered_json json = {{"kind", kind}, {"text", text}};
  if (!command.empty()) json["command"] = command;
  return typed_message(3, json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Message typed_message(char type, std::string_view rest) {
  std::string bytes(1, type);
  bytes += rest;
  return std::make_shared<const std::string>(std::move(bytes));
}

Playback::Playback(Message motion, Message compare, Send send)
    : motion_(std::move(motion)), compare_(std::move(compare)), send_(std::move(send)) {}

void Playback::connect(int page) {
  pages_.insert(page);
  send_(page, motion_);
  if (compare_) send_(page, compare_);
}

void Playback::disconnect(int page) { pages_.erase(page); }

void Playback::receive(int page, std::string_view text) {
  if (!pages_.contains(page)) return;
  std::string command = "command";
  std::string why = "this is a recording; the page plays it by itself";
  try {
    if (parse_live_command(text).kind == LiveCommand::Kind::ack) return;
  } catch (const InputError& e) {
    command = e.element();
    why = e.what();
  }
  send_(page, notice("refused", why, command));
}

double Playback::advance() { return 1; }

void Playback::end() {
  for (const int page : pages_) send_(page, notice("end", "the server has ended"));
}

}  // namespace sarrus::view
